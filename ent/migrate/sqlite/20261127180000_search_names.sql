-- +goose Up
-- compatible-with: 20261122012914
-- A search looks at the name and the type, which are the first two lines, and no longer at the description behind them.
UPDATE `module_definitions` SET `search_text` = `two`.`lines` FROM (
  SELECT `id`, substr(`search_text`, 1, `first` + instr(substr(`search_text`, `first` + 1), char(10)) - 1) AS `lines`
  FROM (SELECT `id`, `search_text`, instr(`search_text`, char(10)) AS `first` FROM `module_definitions`)
  WHERE instr(substr(`search_text`, `first` + 1), char(10)) > 0
) AS `two` WHERE `module_definitions`.`id` = `two`.`id`;
