DELETE FROM conditions WHERE name = :name AND subject = :subject
