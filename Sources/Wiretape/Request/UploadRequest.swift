/// A request with a body of data, a file, a stream or a form, whose answer is collected in memory.
// SAFETY: see Request; nothing is stored here.
public final class UploadRequest: DataRequest, @unchecked Sendable {}
