import { filesContract } from '../../../host/src/ports/files.contract.ts'

// Where no descriptor shows what it stands for. The module decides that when it is loaded.
Object.defineProperty(process, 'platform', { value: 'darwin' })
const { sandbox } = await import('../../test/sandbox.ts')

filesContract('node without /proc', async () => sandbox())
