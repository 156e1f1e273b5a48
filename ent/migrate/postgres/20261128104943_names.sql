-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "default_value_definitions" ADD COLUMN "search_text" character varying NOT NULL DEFAULT '';
-- Names of other letters are folded by the server, because the databases fold these in ways of their own. The rows are
-- those of all organizations, which only the owner of the table may change, and only without FORCE.
ALTER TABLE "default_value_definitions" NO FORCE ROW LEVEL SECURITY;
UPDATE "default_value_definitions" SET "search_text" = lower(("name" || E'\n' || "given_id") COLLATE "C")
WHERE octet_length("name") = char_length("name");
ALTER TABLE "default_value_definitions" FORCE ROW LEVEL SECURITY;
