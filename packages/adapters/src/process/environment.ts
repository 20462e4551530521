/** What a shell may know of the host's environment (S-38): nothing that is not named here. */
const passed =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|XDG_[A-Z_]+|SSH_AUTH_SOCK|EDITOR|VISUAL|PAGER|COLORTERM|DISPLAY|WAYLAND_DISPLAY|ZDOTDIR)$/

/** Windows needs more of it to start anything at all, and takes names in any case. */
export const passedOnWindows =
  /^(?:path|pathext|systemroot|systemdrive|windir|comspec|temp|tmp|userprofile|username|userdomain|home(?:drive|path)|appdata|localappdata|programdata|programfiles(?:\(x86\))?|programw6432|psmodulepath|os|number_of_processors|processor_architecture)$/i

export type Variables = { readonly [name: string]: string | undefined }

/** `mark` is in the environment of all that a terminal starts, so that they are found when the host has died. */
export function environmentOf(
  host: Variables,
  { shell, mark }: { readonly shell: string; readonly mark: string },
): { [name: string]: string } {
  const windows = process.platform === 'win32'
  const environment: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(host))
    if (value !== undefined && (passed.test(name) || (windows && passedOnWindows.test(name))))
      environment[name] = value
  return {
    ...environment,
    ...(!windows && { SHELL: shell }),
    COLORTERM: 'truecolor',
    TERM: 'xterm-256color',
    TERM_PROGRAM: 'atrium',
    [markName]: mark,
  }
}

export const markName = 'TERM_SESSION_ID'
