-- +goose Up
-- compatible-with: 20261122012914
DROP INDEX "module_instance_name";
