import type { Variables } from '../../process/environment.ts'

/** What an agent is signed in with goes nowhere else: neither by its last words, nor by what it says of an error. */
export function scrubber(environment: Variables): (text: string) => string {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    named.test(name)
      ? [value, ...value.split('\n').filter((line) => line.length >= shortestLine), ...shown(value)]
      : login(value),
  )
  // The longest first: one may be a part of another.
  const all = secrets.filter((each) => each.length >= shortest).toSorted((a, b) => b.length - a.length)
  return (text) => all.reduce((bare, secret) => bare.replaceAll(secret, '…'), text)
}

const named = /KEY|TOKEN|SECRET|PASS|AUTH|CRED|COOKIE/i
const shortest = 6
/** Of a secret of several lines each is one, where it is more than a mark. */
const shortestLine = 16

/** What stands in a header behind the way to show it. */
function shown(value: string): readonly string[] {
  const [, found] = /^(?:basic|bearer|token)\s+(\S+)$/i.exec(value) ?? []
  return found === undefined ? [] : [found]
}

/** What stands before the host of an address, as in that of a proxy. */
function login(value: string): readonly string[] {
  const [, found] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)@/i.exec(value) ?? []
  return found === undefined ? [] : [found]
}
