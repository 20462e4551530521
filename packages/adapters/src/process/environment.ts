/** Host variables that a shell gets (S-38). It gets no other variable of the host. */
const allowedVariables =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|XDG_[A-Z_]+|SSH_AUTH_SOCK|EDITOR|VISUAL|PAGER|COLORTERM|DISPLAY|WAYLAND_DISPLAY|ZDOTDIR)$/

/**
 * Further variables that a shell gets on Windows. No program starts there without them. Windows ignores case in variable
 * names.
 */
export const allowedOnWindows =
  /^(?:path|pathext|systemroot|systemdrive|windir|comspec|temp|tmp|userprofile|username|userdomain|home(?:drive|path)|appdata|localappdata|programdata|programfiles(?:\(x86\))?|programw6432|psmodulepath|os|number_of_processors|processor_architecture)$/i

export type Variables = { readonly [name: string]: string | undefined }

/**
 * Returns the environment of a shell. The environment contains `marker`, which child processes inherit. If the host dies, the
 * watchdog finds these processes by the marker.
 */
export function shellEnvironment(
  host: Variables,
  { shell, marker }: { readonly shell: string; readonly marker: string },
): { [name: string]: string } {
  const windows = process.platform === 'win32'
  const environment: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(host))
    if (value !== undefined && (allowedVariables.test(name) || (windows && allowedOnWindows.test(name))))
      environment[name] = value
  return {
    ...environment,
    ...(!windows && { SHELL: shell }),
    COLORTERM: 'truecolor',
    TERM: 'xterm-256color',
    TERM_PROGRAM: 'atrium',
    [markerVariable]: marker,
  }
}

/** The name of the variable that holds the marker of a host. */
export const markerVariable = 'TERM_SESSION_ID'
