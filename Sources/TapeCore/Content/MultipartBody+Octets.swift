extension PartContent {
    /// Octets it stands for.
    public var size: Int {
        if case .file(let sidecar) = self { return sidecar.size }
        return self.bodyContent.inlineOctets?.count ?? 0
    }
}

extension MultipartBody<PartContent> {
    /// Octets of the whole body.
    public var size: Int {
        var size = 0
        MultipartSerializer.write(self, to: { size += $0.count }, data: { size += $0.size })
        return size
    }

    /// The body, to be read piece by piece: parts in files are not loaded.
    public func source(file: (Sidecar) throws -> OctetSource) throws -> OctetSource {
        var sources: [OctetSource] = []
        var octets: [UInt8] = []
        try MultipartSerializer.write(
            self, to: { octets.append(contentsOf: $0) },
            data: { content in
                guard case .file(let sidecar) = content else {
                    octets.append(contentsOf: content.bodyContent.inlineOctets ?? [])
                    return
                }
                sources.append(OctetSource(octets))
                octets = []
                sources.append(try file(sidecar))
            })
        sources.append(OctetSource(octets))
        return OctetSource(joining: sources)
    }
}
