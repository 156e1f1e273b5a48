\set n random(0, :deployments - 1)
\set e case when :n % 5 = 4 then 0 else 1 + (:n / 5 * 4 + :n % 5) % 999 end
\set o :e % 50
SELECT * FROM deployments WHERE id = 'dep_' || lpad(:n::text, 26, '0') AND organization_id = 'org_' || lpad(:o::text, 26, '0');
