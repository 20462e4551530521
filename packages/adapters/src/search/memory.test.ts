import { searchContract } from '../../../host/src/ports/contracts/search.contract.ts'
import { memorySearch } from './memory.ts'

searchContract('memory', async () => {
  const index = memorySearch()
  return { index, reopen: async () => index }
})
