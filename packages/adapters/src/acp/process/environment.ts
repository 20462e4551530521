import { markName, passedOnWindows } from '../../process/environment.ts'
import type { Variables } from '../../process/environment.ts'

/**
 * What an agent may know of the host's environment (S-38): what every program needs, what leads it out of a closed network, and
 * what it is itself signed in with. Anything else has to be given to it by name.
 */
const passed =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|XDG_[A-Z_]+|SSH_AUTH_SOCK|DISPLAY|WAYLAND_DISPLAY|(?:https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i

export function agentEnvironment(
  host: Variables,
  { own, given, mark }: { readonly own: RegExp; readonly given: Variables; readonly mark: string },
): { [name: string]: string } {
  const named = (name: string) =>
    passed.test(name) || own.test(name) || (process.platform === 'win32' && passedOnWindows.test(name))
  const all = Object.entries({ ...host, ...given }).filter(
    ([name]) => named(name) || Object.hasOwn(given, name),
  )
  const environment = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...Object.fromEntries(environment), [markName]: mark }
}
