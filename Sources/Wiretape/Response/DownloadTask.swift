/// A download, and the value made of its file.
public typealias DownloadTask<Value: Sendable> = ContentTask<DownloadRequest, Value>
