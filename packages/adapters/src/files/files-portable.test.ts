import { filesContract } from '../../../host/src/ports/contracts/files.contract.ts'

// The fallback for systems without `/proc/self/fd`. The module chooses it when it is loaded.
Object.defineProperty(process, 'platform', { value: 'darwin' })
const { sandbox } = await import('../../test/sandbox.ts')

filesContract('node without /proc', async () => sandbox())
