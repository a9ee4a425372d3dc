SELECT region, max(run_id) AS newest FROM tiles WHERE model_id = :model_id GROUP BY region ORDER BY region
