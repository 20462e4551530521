/**
 * What the page may do (S-42). It runs only the host's own scripts, talks only to the host, and cannot be put into a
 * frame. No string becomes code or markup: the only Trusted Types policy is `atrium`, and it allows only the names of
 * the host's own worker scripts.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The terminal in the page makes style elements for the colours of programs. Style attributes stay forbidden.
  "style-src-elem 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types atrium',
].join('; ')

/** Returns the headers of every answer of the page. */
export function pageHeaders(secure: boolean): { readonly [name: string]: string } {
  return {
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
  }
}
