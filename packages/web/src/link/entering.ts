import { Refused } from '@atrium/client/link/reconnect'
import { forgetKey, saveKey, savedKey } from './browser-key.ts'
import type { BrowserKey } from './browser-key.ts'

const notAllowed = 'the host does not let this browser in'
const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }

/**
 * Registers this browser at the host with a code that a person got. The browser makes a new key, which signs for
 * every later connection. Its private half can be used by pages of this origin, and read by nobody.
 */
export async function enter(code: string): Promise<void> {
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign'])
  const publicKey = base64url(await crypto.subtle.exportKey('spki', pair.publicKey))
  const refusal =
    code === '' ? notAllowed : 'the host does not accept this link: it is wrong, was used, or has ended'
  const { credential = '' } = await post('/enter/redeem', { code, publicKey }, refusal)
  await saveKey({ credential, privateKey: pair.privateKey })
}

/** Returns whether this browser can connect without a code: it has entered before, or the host needs none. */
export async function canConnect(): Promise<boolean> {
  if (await savedKey()) return true
  const { code } = await post('/enter/challenge', {})
  if (code !== 'not needed') return false
  await enter('')
  return true
}

/** A ticket for one WebSocket. Throws `Refused` if the host does not know this browser any more. */
export async function newTicket(): Promise<string> {
  const key = await savedKey()
  if (!key) throw new Refused('this browser has not entered')
  const { challenge = '' } = await post('/enter/challenge', {})
  const signature = await signed(key, challenge)
  const { ticket = '' } = await post('/enter/ticket', {
    credential: key.credential,
    challenge,
    signature,
  }).catch(async (error: unknown) => {
    if (error instanceof Refused) await forgetKey()
    throw error
  })
  return ticket
}

async function signed({ privateKey }: BrowserKey, challenge: string): Promise<string> {
  const text = new TextEncoder().encode(`atrium ticket ${challenge}`)
  return base64url(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, text))
}

type Fields = { readonly [key: string]: string }

/** Posts a request to enter. `refusal`: what a person is told if the host refuses it. */
async function post(path: string, body: Fields, refusal = notAllowed): Promise<Fields> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-atrium': 'enter' },
    body: JSON.stringify(body),
    credentials: 'omit',
    cache: 'no-store',
  }).catch(() => {
    throw new Error('no host answers')
  })
  if (response.status === 403) throw new Refused(refusal)
  if (response.status === 429)
    throw new Error('there were too many failed attempts; try again in some minutes')
  if (response.status === 409) throw new Error(await problemIn(response))
  if (!response.ok) throw new Error(`the host answers with ${response.status}`)
  // The answer is not checked: host and page are built together. The error page of a proxy is no JSON, and throws
  // here.
  return (await response.json()) as Fields
}

/** Why the host lets no further browser in, although the code is right. */
async function problemIn(response: Response): Promise<string> {
  const { problem = 'the host may have no more devices' } = (await response.json()) as Fields
  return problem
}

function base64url(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes))
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
