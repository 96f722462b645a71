from asked_texts import Chosen

from jaxkg.adjudicate import Echo, Message, Prompted, Reply, Scripted, ask
from jaxkg.adjudicate.around.echo import transcript


def test_shows_what_was_sent_with_the_form_where_no_schema_went_along():
    request = Prompted((Message("user", "which?"),), Chosen, form="Numbers only.").request()
    assert "[user]\nwhich?\n\nNumbers only." in transcript(request, Reply("1"))
    shown = transcript(request, Reply("1", structured=True, cached=True))
    assert "Numbers only." not in shown
    assert "schema Chosen as structured output" in shown
    assert "[reply: from the cache, " in shown
    shown = transcript(request, Reply(error="timeout", detail="late"))
    assert shown.endswith("[failed: timeout] late")


def test_writes_each_exchange_repairs_too():
    lines = []
    outcomes = ask(
        Echo(Scripted(["hm", '{"indices": [4]}']), lines.append),
        [Prompted((Message("user", "which?"),), Chosen, question="q7", stage="plan")],
    )
    assert outcomes[0].repaired
    assert len(lines) == 2
    assert lines[0].startswith("--- plan, question q7 ---\n[user]\nwhich?")
    assert "[assistant]\nhm" in lines[1]
    assert lines[1].endswith('{"indices": [4]}')
