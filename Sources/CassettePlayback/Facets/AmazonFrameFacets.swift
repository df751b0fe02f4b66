internal import CassetteModel
internal import TapeBytes

/// The frames of an AWS event stream as facets: of each, at its number from 0, the headers and the payload.
///
/// In a signed stream each frame holds another one; what encloses it, a date and a signature, is not compared.
struct AmazonFrameFacets {
    let pointers: PointerSet

    /// How deeply frames hold others.
    private static let depthLimit = 2

    /// False, with nothing added, if the bytes are not whole frames with correct checksums.
    func read(_ bytes: UnsafeRawBufferPointer, into collector: inout FacetCollector) -> Bool {
        var found = collector.empty
        let root = JSONFacets.root(self.pointers)
        var (start, number) = (0, 0)
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let frame = AmazonFrame(rest) else { return false }
            let base = JSONFacets.base(Array("\(number)".utf8), in: root, self.pointers)
            self.add(frame, UnsafeRawBufferPointer(rebasing: rest[..<frame.size]), at: base, depth: 0, &found)
            start += frame.size
            number += 1
        }
        guard number > 0 else { return false }
        collector.add(found)
        return true
    }

    private func add(
        _ frame: AmazonFrame, _ bytes: UnsafeRawBufferPointer, at base: JSONFacets.Base, depth: Int, _ collector: inout FacetCollector
    ) {
        let payload = UnsafeRawBufferPointer(rebasing: bytes[frame.payload])
        if frame.header(":chunk-signature") != nil, depth < Self.depthLimit {
            // The last frame of a signed stream holds nothing.
            guard let inner = AmazonFrame(payload) else { return self.value("payload", payload, at: base, &collector) }
            return self.add(inner, UnsafeRawBufferPointer(rebasing: payload[..<inner.size]), at: base, depth: depth + 1, &collector)
        }
        for header in frame.headers {
            Array(header.value.utf8).withUnsafeBytes { self.value(header.name, $0, at: base, &collector) }
        }
        guard !JSONFacets.read(payload, at: base, self.pointers, into: &collector) else { return }
        self.value("payload", payload, at: base, &collector)
    }

    private func value(_ name: String, _ bytes: UnsafeRawBufferPointer, at base: JSONFacets.Base, _ collector: inout FacetCollector) {
        let place = JSONFacets.base(Array(name.utf8), in: base, self.pointers)
        if case .ignored = self.pointers.verdict(place.rules, depth: place.depth) { return }
        collector.add(
            FacetHash.value(place.path, .bytes, bytes), .json, name: place.pointer, value: bytes, type: Array("header".utf8))
    }
}
