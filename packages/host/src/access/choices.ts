/** The options of an approval request. They differ in scope: once, this session, this folder. */
export const choices = {
  once: 'atrium.once',
  session: 'atrium.session',
  folder: 'atrium.folder',
  deny: 'atrium.deny',
  denyWhy: 'atrium.deny-why',
} as const
