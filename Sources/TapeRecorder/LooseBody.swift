internal import CassetteModel
internal import CassetteRedaction
internal import TapeExchange

/// A body between the wire and its readable form: bytes in memory, or in a file that is still open.
///
/// Not Sendable: lives on the recorder thread, or on that of a `PostponedSearch` while it is searched there. Its copies share an open file,
/// which is for one thread at a time.
struct LooseBody {
    enum Place {
        case memory([UInt8])
        case spool(OpenSpool)
    }

    var place: Place
    var arrival: Arrival?
    var isComplete: Bool
    /// A sentence for people on what could not be redacted.
    var note: String?

    init(_ place: Place, arrival: Arrival?, isComplete: Bool) {
        self.place = place
        self.arrival = arrival
        self.isComplete = isComplete
    }

    /// - Parameter spool: where its earlier blocks are; nil if there were none.
    init(_ taped: TapedBody, _ spool: OpenSpool?) throws(CassetteError) {
        if taped.isSpilled, let spool {
            try spool.write(taped.bytes)
            self.init(.spool(spool), arrival: taped.arrival, isComplete: taped.isComplete)
        } else {
            self.init(.memory(taped.bytes), arrival: taped.arrival, isComplete: taped.isComplete)
        }
    }

    /// All bytes, where they are no more than `limit`.
    func wire(upTo limit: Int) throws -> WireBody? {
        switch self.place {
        case .memory(let octets): WireBody(octets, arrival: self.arrival, isComplete: self.isComplete)
        case .spool(let spool) where spool.size <= limit:
            WireBody(try spool.source.load(), arrival: self.arrival, isComplete: self.isComplete)
        case .spool: nil
        }
    }

    /// Takes other bytes in the place of its own. A file goes with the last who holds it: a search that ends early goes back to it.
    mutating func take(_ wire: WireBody) {
        self.place = .memory(wire.octets)
        self.arrival = wire.arrival
    }
}
