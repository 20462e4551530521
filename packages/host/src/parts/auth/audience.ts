import { fromBase64 } from '@atrium/protocol/text/base64'

/**
 * Returns whether a token is a JWT for other resources: each of its audiences is a URL of another origin. If an
 * audience is no URL, the result is false, because only the issuer knows what such an audience means.
 */
export function isForAnother(token: string, resource: string): boolean {
  const audiences = audiencesOf(token)
  const own = originOf(resource)
  if (audiences.length === 0 || own === undefined) return false
  return audiences.every((audience) => {
    const origin = originOf(audience)
    return origin !== undefined && origin !== own
  })
}

function audiencesOf(token: string): readonly string[] {
  const [, payload, ...rest] = token.split('.')
  if (payload === undefined || rest.length !== 1) return []
  const padded = payload
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .padEnd(Math.ceil(payload.length / 4) * 4, '=')
  const bytes = fromBase64(padded)
  try {
    const { aud }: { readonly aud?: unknown } = JSON.parse(utf8.decode(bytes ?? new Uint8Array()))
    return [aud].flat().filter((each) => typeof each === 'string')
  } catch {
    return []
  }
}

function originOf(uri: string): string | undefined {
  return /^https?:\/\/[^/?#]+/i.exec(uri)?.[0].toLowerCase()
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
