import { describe, expect, it } from 'vitest';
import { mistakeOfAddress, policyOfList } from './address-rules.ts';

const HERE = policyOfList(['127.0.0.0/8', '::1'], 'example.org');
const OPEN = { ...HERE, mayBePrivate: true };

describe('an address outside', () => {
  it.each([
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    'fd00:ec2::254',
    '100.100.100.200',
    '168.63.129.16',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'fe80::1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '2001:0:a9fe:a9fe::1',
    '2002:a9fe:a9fe::1',
  ])('should never be %s, whatever the destination may reach', (address) => {
    expect(mistakeOfAddress(address, OPEN)).toContain('never reached');
  });

  it('should be this machine only where that is allowed', () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect(mistakeOfAddress(address, OPEN)).toBeNull();
      expect(mistakeOfAddress(address, { mayBePrivate: true })).not.toBeNull();
    }
  });

  it('should be private only where that is allowed', () => {
    for (const address of ['10.1.2.3', '100.64.0.1', '172.20.0.1', '192.168.1.1', 'fd12::1']) {
      expect(mistakeOfAddress(address, OPEN)).toBeNull();
      expect(mistakeOfAddress(address, { ...OPEN, mayBePrivate: false })).toContain('private');
    }
    expect(mistakeOfAddress('203.0.113.9', { mayBePrivate: false })).toBeNull();
  });
});
