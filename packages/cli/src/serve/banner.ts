export interface Announcement {
  readonly version: string
  readonly url: string
  readonly token: string | undefined
  /** Where it differs from what was to be expected. */
  readonly notes: readonly string[]
}

/** For people at a terminal, and the one place where they see the token. */
export function banner({ version, url, token, notes }: Announcement): string {
  const address = token === undefined ? url : `${url}?tkn=${token}`
  const lines = [
    `Atrium ${version}`,
    '',
    `  Address   ${address}`,
    '  VS Code   run "Add Remote Agent Host" and paste the address',
    '  Stop      Ctrl+C',
    ...notes.map((note) => `  Note      ${note}`),
  ]
  return `\n${lines.join('\n')}\n\n`
}

/** For a pipe or a file, where a token would stay: where to find it, not what it is. */
export function quietBanner({ url, token, notes }: Announcement): string {
  const hint = token === undefined ? '' : ' (the token: atrium token show)'
  return [`Atrium listens on ${url}${hint}`, ...notes, ''].join('\n')
}

/** For programs: the first line of stdout, in exactly this form. */
export function readyLine({ url, token }: Announcement): string {
  return `${JSON.stringify({ event: 'ready', url, token, pid: process.pid })}\n`
}
