-- made by hand
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS `harbours` (`id` int(11) NOT NULL AUTO_INCREMENT, `name` varchar(40) DEFAULT '(none)', PRIMARY KEY (`id`), KEY `n` (`name`)) ENGINE=InnoDB;
INSERT INTO `harbours` VALUES (1,'Oslo\'s; quay'),(2,_binary 'Bergen');
CREATE TABLE "boats"(id INTEGER PRIMARY KEY, title TEXT, harbour_id INTEGER REFERENCES harbours(id), photo BLOB, price REAL CHECK (price > 0));
INSERT INTO boats (id, title, harbour_id, photo, price) VALUES (1, 'Gull ''the old''', 2, X'00ff', -1.5e3), (2, 'Tern', NULL, NULL, 20);
INSERT INTO boats VALUES (3, upper('x'), 1, NULL, 3);
INSERT INTO boats SELECT * FROM other;
CREATE TABLE public.crew (id integer NOT NULL, name text, boat_id integer);
COPY public.crew (id, name, boat_id) FROM stdin;
1	Ada\tLind	1
2	Bo	\N
\.
ALTER TABLE ONLY public.crew
    ADD CONSTRAINT crew_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crew ADD CONSTRAINT fk FOREIGN KEY (boat_id) REFERENCES public.boats(id);
DROP TABLE boats;
COMMIT;
