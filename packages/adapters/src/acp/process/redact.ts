import type { Variables } from '../../process/environment.ts'

/**
 * Returns a function that replaces the secrets among these variables by `…`. Credentials of an agent must appear neither in its
 * diagnostic output nor in its error messages.
 */
export function redactor(environment: Variables): (text: string) => string {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    secretName.test(name)
      ? [
          value,
          ...value.split('\n').filter((line) => line.length >= minSecretLineLength),
          ...headerCredential(value),
        ]
      : urlCredentials(value),
  )
  // Longest first, because one secret may be a part of another.
  const sorted = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .toSorted((a, b) => b.length - a.length)
  return (text) => sorted.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text)
}

const secretName = /KEY|TOKEN|SECRET|PASS|AUTH|CRED|COOKIE/i
const minSecretLength = 6
/** Each line of a secret with several lines is a secret too, unless the line is too short to identify anything. */
const minSecretLineLength = 16

/** Returns the credential behind the scheme of an `Authorization` header. */
function headerCredential(value: string): readonly string[] {
  const [, credential] = /^(?:basic|bearer|token)\s+(\S+)$/i.exec(value) ?? []
  return credential === undefined ? [] : [credential]
}

/** Returns `user:password` of a URL, for example of a proxy. */
function urlCredentials(value: string): readonly string[] {
  const [, credentials] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)@/i.exec(value) ?? []
  return credentials === undefined ? [] : [credentials]
}
