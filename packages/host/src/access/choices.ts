/** The choices of a person who is asked, and how far each reaches. */
export const choices = {
  once: 'atrium.once',
  session: 'atrium.session',
  folder: 'atrium.folder',
  deny: 'atrium.deny',
  denyWhy: 'atrium.deny-why',
} as const
