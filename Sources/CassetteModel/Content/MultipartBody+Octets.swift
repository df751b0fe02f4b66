extension PartContent {
    /// Octets it stands for.
    public var size: Int {
        if case .file(let sidecar) = self { return sidecar.size }
        return self.bodyContent.inlineOctets?.count ?? 0
    }
}

extension MultipartBody<PartContent> {
    /// Octets of the whole body; `Int.max` where a cassette claims more of its files.
    public var size: Int {
        var size = 0
        func add(_ count: Int) {
            let (sum, isTooLarge) = size.addingReportingOverflow(count)
            size = isTooLarge ? .max : sum
        }
        MultipartSerializer.write(self, to: { add($0.count) }, data: { add($0.size) })
        return size
    }

    /// The body with the octets of its parts, to be read piece by piece: those in files are not loaded.
    package func sources(file: (Sidecar) throws -> OctetSource) rethrows -> MultipartBody<OctetSource> {
        try self.mapData { content in
            if case .file(let sidecar) = content { return try file(sidecar) }
            return OctetSource(content.bodyContent.inlineOctets ?? [])
        }
    }

    public func source(file: (Sidecar) throws -> OctetSource) rethrows -> OctetSource {
        try self.sources(file: file).source
    }
}

extension MultipartBody<OctetSource> {
    /// All octets in order.
    package var source: OctetSource {
        var sources: [OctetSource] = []
        var octets: [UInt8] = []
        MultipartSerializer.write(
            self, to: { octets.append(contentsOf: $0) },
            data: { data in
                if let memory = data.memory {
                    octets.append(contentsOf: memory)
                } else {
                    sources.append(OctetSource(octets))
                    octets = []
                    sources.append(data)
                }
            })
        sources.append(OctetSource(octets))
        return OctetSource(joining: sources)
    }
}
