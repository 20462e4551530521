import { fromBase64 } from '@atrium/protocol/text/base64'

/**
 * Whether a token says itself that it is for another place than this. Only a JWT says anything, and only one whose every
 * audience is an address: other names mean something to those who gave it alone.
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
    const { aud } = JSON.parse(utf8.decode(bytes ?? new Uint8Array())) as { readonly aud?: unknown }
    return [aud].flat().filter((each) => typeof each === 'string')
  } catch {
    return []
  }
}

function originOf(uri: string): string | undefined {
  return /^https?:\/\/[^/?#]+/i.exec(uri)?.[0].toLowerCase()
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
