extension GzipHeader {
    /// No name, no time, Unix: what most servers send. A cassette leaves this one out.
    public static let plain = GzipHeader(bytes: [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03])
}
