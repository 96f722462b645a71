"""SERVE: a graph and a system kept warm behind HTTP, MCP and a page.

| | |
|---|---|
| `facts` | what a caller may look up: entities, neighbours, paths, claims, the schema |
| `examples` | questions to try, made up from the graph |
| `gather` | requests of many callers as one batch on the device |
| `app` | the HTTP service; `guard` who may ask, how much and how often; `meters` what is counted |
| `mcp` | the same as tools for a language model |
| `page` | one page for a browser, without a build step and without the internet |

Needs the extra `serve`.
"""
