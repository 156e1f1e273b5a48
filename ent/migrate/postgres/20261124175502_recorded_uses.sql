-- +goose Up
-- compatible-with: 20261122012914
-- A property takes its options from a definition where its values name the source, and has others within it.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations LOOP
    PERFORM set_config('app.org_id', o, true);
    INSERT INTO definition_uses (organization_id, given_id, module_version_id)
    WITH RECURSIVE property (version_id, item) AS (
      SELECT v.id, i.value FROM module_versions v CROSS JOIN LATERAL json_array_elements(v.inputs) AS i (value)
      WHERE v.organization_id = o AND v.uses_recorded
      UNION ALL
      SELECT p.version_id, i.value
      FROM property p CROSS JOIN LATERAL (VALUES (p.item->'item_inputs'), (p.item->'mapped_inputs')) AS nested (list)
        CROSS JOIN LATERAL json_array_elements(CASE json_typeof(nested.list) WHEN 'array' THEN nested.list ELSE '[]'::json END) AS i (value)
    ), source (version_id, name, given_id) AS (
      SELECT version_id, item->'values'->'source', item->'values'->'params'->'givenId' FROM property
    )
    -- Text with an escape may be one that PostgreSQL cannot decode; no definition is called so.
    SELECT DISTINCT o, given_id#>>'{}', version_id FROM source
    WHERE name::text = '"default_value_definition"' AND json_typeof(given_id) = 'string' AND strpos(given_id::text, '\') = 0;
  END LOOP;
END $$;
-- +goose StatementEnd
