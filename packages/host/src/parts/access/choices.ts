/**
 * The ids of the options of an approval request: to allow the call once, in this session or in this folder, and to
 * deny it without or with a reason.
 */
export const choices = {
  once: 'atrium.once',
  session: 'atrium.session',
  folder: 'atrium.folder',
  deny: 'atrium.deny',
  denyWhy: 'atrium.deny-why',
} as const
