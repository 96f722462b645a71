"""Small graphs for the reader's tests."""

from jaxkg.kg import KnowledgeGraph

TRIPLES = [
    ("Line 1", "type", "line"), ("Line 2", "type", "line"), ("F1", "type", "line"),
    ("Harbour", "type", "stop"), ("Castle (stop)", "type", "stop"), ("Opera", "type", "stop"),
    ("Castle (pub)", "type", "pub"), ("Castle (pub)", "owned by", "Ada Moor"),
    ("Line 1", "stops at", "Harbour"), ("Line 1", "stops at", "Castle (stop)"),
    ("Line 2", "stops at", "Castle (stop)"), ("Line 2", "stops at", "Opera"),
    ("F1", "stops at", "Harbour"),
    ("Line 1", "operated by", "Velmora Trams"), ("Line 2", "operated by", "Velmora Trams"),
    ("F1", "operated by", "Blue Bay Ferries"),
    ("Velmora Trams", "headed by", "Ilse Tarnov"), ("Blue Bay Ferries", "headed by", "Ann Pike"),
    ("Line 1", "length in km", "12.5"), ("Line 2", "length in km", "8"),
    ("F1", "length in km", "30"),
    ("Line 1", "opened on", "1911-05-02"), ("Line 2", "opened on", "1985-01-01"),
    ("F1", "opened on", "2001-07-09"),
    ("F1", "also known as", "Island Ferry"),
    ("Opera", "walking link to", "Castle (stop)"),
]  # fmt: skip


def transit() -> KnowledgeGraph:
    """Lines, stops and who runs them."""
    return KnowledgeGraph.from_triples(TRIPLES)


def workshop() -> KnowledgeGraph:
    """Boats, those who build them and where, without a word of what anything is."""
    facts = [
        ("Tern", "boat builder", "Una Holt"), ("Skua", "boat builder", "Una Holt"),
        ("Gannet", "boat builder", "Per Lund"), ("Petrel", "boat builder", "Ivo Marsh"),
        ("Tern", "has price", "12000 euros"), ("Skua", "has price", "15500 euros"),
        ("Gannet", "has price", "9000 euros"), ("Petrel", "has price", "40000 euros"),
        ("Tern", "due date", "2024-03-02"), ("Skua", "due date", "2024-06-11"),
        ("Gannet", "due date", "2024-05-01"), ("Tern", "lies in", "Dock East"),
        ("Skua", "lies in", "Dock West"), ("Gannet", "lies in", "Dock East"),
        ("Una Holt", "reports to", "Ivo Marsh"), ("Per Lund", "reports to", "Ivo Marsh"),
        ("Ivo Marsh", "reports to", "Mona Frey"), ("Una Holt", "age", "51"),
        ("Per Lund", "age", "38"), ("Ivo Marsh", "age", "44"), ("Mona Frey", "age", "60"),
        ("Una Holt", "born in", "Vigo"), ("Per Lund", "born in", "Bergen"),
        ("Ivo Marsh", "born in", "Hull"), ("Mona Frey", "born in", "Hull"),
        ("Dock East", "manager", "Per Lund"), ("Dock West", "manager", "Mona Frey"),
    ]  # fmt: skip
    return KnowledgeGraph.from_triples(facts)


def bakery() -> KnowledgeGraph:
    """Loaves and cakes, who bakes them and what is in them; every thing has a kind."""
    facts = [
        ("Rye", "kind", "loaf"), ("Spelt", "kind", "loaf"), ("Farmhouse", "kind", "loaf"),
        ("Plait", "kind", "cake"), ("Star", "kind", "cake"), ("Log", "kind", "cake"),
        ("Ada Moor", "kind", "baker"), ("Ben Oke", "kind", "baker"), ("Cy Lund", "kind", "baker"),
        ("Rye", "was baked by", "Ada Moor"), ("Spelt", "was baked by", "Ada Moor"),
        ("Farmhouse", "was baked by", "Ben Oke"), ("Plait", "was baked by", "Ben Oke"),
        ("Star", "was baked by", "Ben Oke"), ("Plait", "contains", "almonds"),
        ("Plait", "contains", "raisins"), ("Star", "contains", "almonds"),
        ("Rye", "contains", "caraway"), ("Spelt", "contains", "raisins"),
        ("Rye", "price", "4.20"), ("Spelt", "price", "5.10"), ("Plait", "price", "7.50"),
        ("Star", "price", "6.40"), ("Log", "price", "12.00"), ("Ben Oke", "lives in", "Mill Lane"),
        ("Ada Moor", "lives in", "Hill Row"), ("Star", "is also known as", "The Comet"),
    ]  # fmt: skip
    return KnowledgeGraph.from_triples(facts)


def pond() -> KnowledgeGraph:
    """Animals in kinds below kinds, and what is true or false of them."""
    facts = [
        ("Croak", "type", "frog"), ("Hop", "type", "frog"), ("Slip", "type", "newt"),
        ("Pike", "type", "fish"), ("frog", "subclass of", "amphibian"),
        ("newt", "subclass of", "amphibian"), ("amphibian", "subclass of", "animal"),
        ("fish", "subclass of", "animal"), ("Croak", "poisonous", "true"),
        ("Hop", "poisonous", "false"), ("Slip", "poisonous", "true"),
        ("Pike", "poisonous", "false"), ("Croak", "first described by", "Ada Moor"),
        ("Pike", "first described by", "Ben Oke"), ("Slip", "first described by", "Ada Moor"),
        ("Croak", "length", "7"), ("Slip", "length", "11"), ("Pike", "length", "60"),
        ("Croak", "first described in", "1890"), ("Pike", "first described in", "1740"),
        ("Croak", "lives in", "Old Mill Pond of the Upper Valley"), ("Slip", "lives in", "Fen"),
        ("Hop", "lives in", "Fen"),
    ]  # fmt: skip
    return KnowledgeGraph.from_triples(facts)


def harbour() -> KnowledgeGraph:
    """Boats, their catches and quotas, which nobody names, and auctions."""
    kinds = {
        "boat": ("Petrel", "Skua"), "catch": ("Catch 1", "Catch 2", "Catch 3"),
        "auction": ("Auction 1",), "quota": ("Quota 1", "Quota 2", "Quota 3"),
        "fish": ("cod", "hake"),
    }  # fmt: skip
    facts = [
        ("Catch 1", "made by", "Skua"), ("Catch 2", "made by", "Skua"),
        ("Catch 3", "made by", "Petrel"), ("Catch 1", "sold at", "Auction 1"),
        ("Auction 1", "held in", "Sand"), ("Quota 1", "for species", "cod"),
        ("Quota 2", "for species", "cod"), ("Quota 3", "for species", "hake"),
        ("Quota 1", "held by", "Petrel"), ("Quota 2", "held by", "Skua"),
        ("Quota 3", "held by", "Skua"), ("Skua", "length", "14"), ("Petrel", "length", "11"),
    ]  # fmt: skip
    typed = [(name, "kind", kind) for kind, names in kinds.items() for name in names]
    return KnowledgeGraph.from_triples(facts + typed)


def shelter() -> KnowledgeGraph:
    """Pets, two of one name, walks and crews; what they are is told under an odd label."""
    facts = [
        ("Bramble (cat)", "what is it", "cat"), ("Bramble (rabbit)", "what is it", "rabbit"),
        ("Sooty", "what is it", "cat"), ("Moss", "what is it", "dog"),
        ("Roy Penn", "what is it", "keeper"), ("Ann Hale", "what is it", "keeper"),
        ("Fen Round", "what is it", "walk"), ("Mill Loop", "what is it", "walk"),
        ("First Steps", "what is it", "course"), ("Agility", "what is it", "course"),
        ("Bramble (cat)", "born", "2021-04-18"), ("Bramble (cat)", "weight kg", "4.1"),
        ("Bramble (rabbit)", "weight kg", "2.3"), ("Sooty", "weight kg", "5"),
        ("Moss", "weight kg", "20"), ("Moss", "allergy", "beef"), ("Sooty", "allergy", "fish"),
        ("Sooty", "adopted by", "Roy Penn"), ("Moss", "looked after by", "Roy Penn"),
        ("Bramble (cat)", "looked after by", "Ann Hale"), ("Moss", "came in on", "2019-02-01"),
        ("Sooty", "came in on", "2023-05-05"), ("Fen Round", "minutes", "45"),
        ("Mill Loop", "minutes", "90"), ("Roy Penn", "passed", "First Steps"),
        ("Ann Hale", "passed", "Agility"), ("Ann Hale", "passed", "First Steps"),
    ]  # fmt: skip
    return KnowledgeGraph.from_triples(facts)


_GODS = "Apollo Hermes Zeus Athena Hera Ares Demeter Vesta Pluto Juno Minerva Mars"
PROJECTS = tuple(_GODS.split())
"""Names of a dozen projects."""
