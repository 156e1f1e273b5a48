-- +goose Up
-- compatible-with: 20261122012914
-- A search looks at the name and the type, which are the first two lines, and no longer at the description behind them.
-- The definitions are of all organizations, whose rows only the owner of the table may change, and only without FORCE.
ALTER TABLE module_definitions NO FORCE ROW LEVEL SECURITY;
UPDATE module_definitions
SET search_text = split_part(search_text, E'\n', 1) || E'\n' || split_part(search_text, E'\n', 2)
WHERE search_text LIKE E'%\n%\n%';
ALTER TABLE module_definitions FORCE ROW LEVEL SECURITY;
