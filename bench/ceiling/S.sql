\set e random(1, 999)
\set k random(0, 19)
\set o :e % 50
\set p :e % 200
\set i :k * 1000 + :e
SELECT name, slug FROM organizations WHERE id = 'org_' || lpad(:o::text, 26, '0');
SELECT id, name FROM projects WHERE id = 'prj_' || lpad(:p::text, 26, '0') AND organization_id = 'org_' || lpad(:o::text, 26, '0');
SELECT id, name FROM environments WHERE organization_id = 'org_' || lpad(:o::text, 26, '0') AND project_id = 'prj_' || lpad(:p::text, 26, '0') ORDER BY created_at DESC, id DESC LIMIT 11;
SELECT i.id, i.name, m.name, m.type, l.id, l.status, l.completed_at FROM module_instances i JOIN module_definitions m ON m.id = i.module_definition_id LEFT JOIN deployments l ON l.id = i.live_deployment_id WHERE i.organization_id = 'org_' || lpad(:o::text, 26, '0') AND i.environment_id = 'env_' || lpad(:e::text, 26, '0') ORDER BY i.created_at DESC, i.id DESC LIMIT 11;
SELECT d.id, d.status, d.created_at, d.created_by, i.name FROM deployments d JOIN module_instances i ON i.id = d.module_instance_id WHERE d.organization_id = 'org_' || lpad(:o::text, 26, '0') AND d.environment_id = 'env_' || lpad(:e::text, 26, '0') ORDER BY d.created_at DESC, d.id DESC LIMIT 11;
SELECT i.id, i.name, e.name FROM module_instances i JOIN environments e ON e.id = i.environment_id WHERE i.id = 'inst_' || lpad(:i::text, 26, '0') AND i.organization_id = 'org_' || lpad(:o::text, 26, '0');
SELECT id, status, completed_at FROM deployments WHERE organization_id = 'org_' || lpad(:o::text, 26, '0') AND module_instance_id = 'inst_' || lpad(:i::text, 26, '0') ORDER BY created_at DESC, id DESC LIMIT 6;
