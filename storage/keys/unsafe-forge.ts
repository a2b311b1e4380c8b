// The casts around node-forge: `getTBSCertificate` is missing from its types.
import forge from 'node-forge';

type ForgeWithTbs = typeof forge.pki & {
  getTBSCertificate(certificate: forge.pki.Certificate): forge.asn1.Asn1;
};
const SUBJECT_PUBLIC_KEY_INDEX = 6;

/** The DER bytes a certificate's signature covers, with the given SubjectPublicKeyInfo in place of forge's own key. */
export function layOutTbs(certificate: forge.pki.Certificate, publicKeySpki: Buffer): Buffer {
  const tbs = (forge.pki as ForgeWithTbs).getTBSCertificate(certificate);
  if (!Array.isArray(tbs.value)) throw new Error('a TBS certificate is a sequence');
  tbs.value[SUBJECT_PUBLIC_KEY_INDEX] = forge.asn1.fromDer(publicKeySpki.toString('latin1'));
  return Buffer.from(forge.asn1.toDer(tbs).getBytes(), 'latin1');
}

/** Subject fields as UTF-8 strings; forge's types know no tag class here. */
export function utf8Fields(
  fields: readonly { readonly name: string; readonly value: string }[],
): forge.pki.CertificateField[] {
  return fields.map((field) => ({ ...field, valueTagClass: forge.asn1.Type.UTF8 })) as never;
}
