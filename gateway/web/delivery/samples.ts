// How a receiver verifies what it gets, in the languages that receivers are written in. Each compares in constant time,
// over the bytes that came.
export const SIGNATURE_SAMPLES: Readonly<Record<string, string>> = {
  'Node.js': `import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(secret, rawBody, header) {
  const mac = 'sha256=' + createHmac('sha256', secret).update(rawBody).digest('hex');
  const [a, b] = [Buffer.from(mac), Buffer.from(header ?? '')];
  return a.length === b.length && timingSafeEqual(a, b);
}`,
  Python: `import hashlib, hmac

def is_genuine(secret: str, raw_body: bytes, header: str) -> bool:
    mac = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest("sha256=" + mac, header or "")`,
  Go: `func isGenuine(secret string, rawBody []byte, header string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(rawBody)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(want), []byte(header))
}`,
  Ruby: `require "openssl"

def genuine?(secret, raw_body, header)
  mac = "sha256=" + OpenSSL::HMAC.hexdigest("SHA256", secret, raw_body)
  mac.bytesize == header.to_s.bytesize && OpenSSL.fixed_length_secure_compare(mac, header)
end`,
};
