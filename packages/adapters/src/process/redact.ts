import type { Variables } from './environment.ts'

/**
 * Returns a function that replaces the secrets among these variables by `…`. The function is applied to the
 * diagnostic output and the error messages of a program, which must not contain its credentials.
 */
export function redactor(environment: Variables): (text: string) => string {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    secretName.test(name)
      ? [
          value,
          ...value.split('\n').filter((line) => line.length >= minSecretLineLength),
          ...headerCredential(value),
          ...pairedValues(value),
        ]
      : urlCredentials(value),
  )
  // The longest secret is replaced first, because one secret may be a part of another.
  const sorted = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .toSorted((a, b) => b.length - a.length)
  return (text) => sorted.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text)
}

const secretName = /KEY|TOKEN|SECRET|PASS|AUTH|CRED|COOKIE|HEADERS/i
const minSecretLength = 6
/**
 * The minimum length of a secret line, in characters. If a secret has several lines, each line counts as a secret
 * too. A shorter line does not, because it may occur in any text.
 */
const minSecretLineLength = 16

/** Returns the credential that follows the scheme in an `Authorization` header. */
function headerCredential(value: string): readonly string[] {
  const [, credential] = /^(?:basic|bearer|token)\s+(\S+)$/i.exec(value) ?? []
  return credential === undefined ? [] : [credential]
}

/** Returns the values of pairs such as `a=b,c=d`, by which some variables give headers. Each may be a credential with its scheme. */
function pairedValues(value: string): readonly string[] {
  return [...value.matchAll(/(?:^|,)[\w-]+=([^,]+)/g)].flatMap(([, each = '']) => {
    const plain = each.replaceAll('%20', ' ')
    return [each, plain, ...headerCredential(plain)]
  })
}

/** Returns the `user:password` part of a URL. URLs of proxies often have one. */
function urlCredentials(value: string): readonly string[] {
  const [, credentials] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)@/i.exec(value) ?? []
  return credentials === undefined ? [] : [credentials]
}
