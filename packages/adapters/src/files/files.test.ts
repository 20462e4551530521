import { filesContract } from '../../../host/src/ports/contracts/files.contract.ts'
import { sandbox } from '../../test/sandbox.ts'

filesContract('node', async () => sandbox())
