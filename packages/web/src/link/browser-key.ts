/**
 * The key of this browser: a private key that cannot be exported, and the id under which the host knows the public
 * half.
 */
export interface BrowserKey {
  readonly credential: string
  readonly privateKey: CryptoKey
}

const store = 'keys'
const entry = 'host'

/** Reads the key of this browser. Undefined if this browser has not entered yet. */
export async function savedKey(): Promise<BrowserKey | undefined> {
  const database = await open()
  return request<BrowserKey | undefined>(database.transaction(store).objectStore(store).get(entry))
}

export async function saveKey(key: BrowserKey): Promise<void> {
  const database = await open()
  await request(database.transaction(store, 'readwrite').objectStore(store).put(key, entry))
}

export async function forgetKey(): Promise<void> {
  const database = await open()
  await request(database.transaction(store, 'readwrite').objectStore(store).delete(entry))
}

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open('atrium', 1)
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(store))
  return request(opening)
}

function request<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.addEventListener('success', () => resolve(asked.result))
    asked.addEventListener('error', () => reject(asked.error ?? new Error('the browser keeps no data here')))
  })
}
