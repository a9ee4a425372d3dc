UPDATE runs SET state = 'given_up', updated_at = :now
WHERE model_id = :model_id AND run_id = :run_id AND state = 'arriving'
