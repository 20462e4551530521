import { blobsContract } from './blobs.contract.ts'
import { dropContract } from './drop.contract.ts'
import type { Opened } from './fixture.contract.ts'
import { forgetContract } from './forget.contract.ts'
import { loadContract } from './load.contract.ts'
import { logContract } from './log.contract.ts'
import { recordsContract } from './records.contract.ts'
import { sealContract } from './seal.contract.ts'

/** The suite that every store must pass. */
export function storeContract(name: string, open: () => Promise<Opened>): void {
  logContract(name, open)
  loadContract(name, open)
  sealContract(name, open)
  dropContract(name, open)
  forgetContract(name, open)
  recordsContract(name, open)
  blobsContract(name, open)
}
