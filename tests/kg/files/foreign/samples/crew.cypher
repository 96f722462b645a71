// made by hand
:begin
CREATE CONSTRAINT one_name FOR (n:Sailor) REQUIRE n.name IS UNIQUE;
CREATE (ada:Sailor:Captain {name: 'Ada; "the" first', born: 1901, ports: ['Oslo', 'Bergen'], alive: false})
CREATE (gull:Ship {title: "The Gull's", built: date('1910-05-01')}),
  (ada)-[:SAILED_ON {role: ['helm', 'deck'], since: 1920}]->(gull),
  (gull)<-[:OWNS]-(ada);
MERGE (b:Sailor {name: "Bo"}) ON CREATE SET b.born = 1899;
MERGE (b:Sailor {name: "Bo"})-[:KNOWS]->(c:Sailor {name: "Cy"});
MATCH (a:Sailor), (b:Sailor) WHERE a.name = 'Bo' AND b.name = 'Cy' CREATE (a)-[:TEACHES]->(b);
UNWIND [{_id: 7, properties: {name: "Di", born: -5}}] AS row
CREATE (n:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row._id}) SET n += row.properties SET n:Sailor;
UNWIND [{start: {_id: 7}, end: {name: "Bo"}, properties: {since: 1921}}] AS row
MATCH (start:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row.start._id}) MATCH (end:Sailor {name: row.end.name})
CREATE (start)-[r:MARRIED]->(end) SET r += row.properties;
LOAD CSV WITH HEADERS FROM 'https://example.org/x.csv' AS line CREATE (:Sailor {name: line.name});
MATCH (n:Sailor) DETACH DELETE n;
MATCH (a:Sailor)-[:KNOWS]->(b) RETURN a
