export interface Announcement {
  readonly version: string
  readonly url: string
  readonly token: string | undefined
  /** The file that has the token. Undefined if the token was named otherwise, or if there is none. */
  readonly tokenFile?: string | undefined
  /** A link to the web page; for a terminal, with a code that lets one browser in. Undefined if there is no page. */
  readonly page?: string | undefined
  /** Deviations from the default, for example another port. */
  readonly notes: readonly string[]
}

/** The text for a terminal, and the only output that shows the token to a user. */
export function banner({ version, url, token, page, notes }: Announcement): string {
  const address = token === undefined ? url : `${url}?tkn=${token}`
  const lines = [
    `Atrium ${version}`,
    '',
    ...(page === undefined ? [] : [`  Web       ${page}`]),
    `  Address   ${address}`,
    '  VS Code   run "Add Remote Agent Host" and paste the address',
    '  Stop      Ctrl+C',
    ...notes.map((note) => `  Note      ${note}`),
  ]
  return `\n${lines.join('\n')}\n\n`
}

/**
 * The text for a pipe or a file. The token and the code of a link would stay there, so the text names the file of the token,
 * and the command that prints a link.
 */
export function quietBanner({ url, tokenFile, page, notes }: Announcement): string {
  const hint = tokenFile === undefined ? '' : ` (the token: ${tokenFile})`
  const where =
    page === undefined
      ? []
      : [`The web page: ${page}; a link that lets a browser in: atrium web (in a clone: npx atrium web)`]
  return [`Atrium listens on ${url}${hint}`, ...where, ...notes, ''].join('\n')
}

/** The first line of stdout with `--json`. Programs parse it: its form is fixed. */
export function readyLine({ url, token }: Announcement): string {
  return `${JSON.stringify({ event: 'ready', url, token, pid: process.pid })}\n`
}
