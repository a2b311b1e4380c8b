-- A certificate key serves one identity only: whose a key is, is asked at every enrollment and renewal.
CREATE INDEX sensor_certificates_by_key ON sensor_certificates (key_digest);
