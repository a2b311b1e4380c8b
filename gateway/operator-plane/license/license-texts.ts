// What people are told of the license: wherever they look for it, and, when it is near its end or past it, wherever they
// look at all.
import type { LicenseView } from '../../../actors/license/license-service.ts';
import type { LicenseBanner } from '../../../machines/trust/license.rules.ts';
import { timeText } from '../plumbing/time-range.ts';

const URGENT: ReadonlySet<LicenseBanner['reason']> = new Set([
  ...(['ending_soon', 'grace', 'expired', 'clock_behind'] as const),
]);

/** What nobody should have to look for. */
export function noticesOf(
  view: Pick<LicenseView, 'license' | 'isStoredRefused' | 'banners'>,
): readonly string[] {
  return view.banners
    .filter(({ reason }) => URGENT.has(reason))
    .map((banner) => bannerText(banner, view));
}

/** One banner in a sentence. */
export function bannerText(
  banner: LicenseBanner,
  view: Pick<LicenseView, 'license' | 'isStoredRefused'>,
): string {
  const nodes = view.license?.maxProtectedNodes ?? 0;
  switch (banner.reason) {
    case 'absent':
      return view.isStoredRefused
        ? 'The license that was imported is not signed by the key this Console trusts and counts as none; enrollment has no limit.'
        : 'No license was imported; enrollment has no limit.';
    case 'pending':
      return 'The license is not valid yet; enrollment has no limit.';
    case 'ending_soon':
      return `The license ends at ${timeText(view.license?.validUntilMs ?? 0)}; its grace period lasts until ${timeText(view.license?.graceUntilMs ?? 0)}.`;
    case 'grace':
      return `The license has expired; when its grace period ends, nodes above ${nodes} are not enrolled.`;
    case 'expired':
      return `The license and its grace period have ended: no new node above ${nodes} is enrolled. Enrolled sensors are not affected.`;
    case 'clock_behind':
      return 'The clock was set back; the license counts by the largest time seen.';
  }
}
