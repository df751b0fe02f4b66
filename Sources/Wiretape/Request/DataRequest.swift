/// A request that collects its answer in memory.
// SAFETY: see Request; nothing is stored here or in its subclass.
public class DataRequest: Request, @unchecked Sendable {}
