-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_definitions" ADD COLUMN "name_key" character varying NOT NULL DEFAULT '';
-- Names of other letters are folded by the server, because the databases fold these in ways of their own. The rows are
-- those of all organizations, which only the owner of the table may change, and only without FORCE.
ALTER TABLE "module_definitions" NO FORCE ROW LEVEL SECURITY;
UPDATE "module_definitions" SET "name_key" = encode(convert_to(lower("name" COLLATE "C"), 'UTF8'), 'hex')
WHERE octet_length("name") = char_length("name");
ALTER TABLE "module_definitions" FORCE ROW LEVEL SECURITY;
