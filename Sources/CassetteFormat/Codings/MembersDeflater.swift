internal import CassetteModel

/// Puts gzip on as a stream of several members, each with its own part of the content.
///
/// Content that was edited is cut at the recorded places: the last member takes what is left, and is empty where nothing is.
struct MembersDeflater: ~Copyable {
    private let members: [GzipMember]
    private var index = 0
    /// Content octets that the current member still takes, unless it is the last, which takes all.
    private var room: Int
    private var deflater: Deflater

    /// Nil for parameters that zlib does not take, for no members, and where there is no memory.
    init?(_ members: [GzipMember]) {
        guard members.allSatisfy({ Deflater.accepts($0.parameters) && ($0.size ?? 0) >= 0 }), let first = members.first,
            let deflater = Deflater(first.parameters, format: .gzip, header: first.header)
        else { return nil }
        self.members = members
        self.room = first.size ?? .max
        self.deflater = deflater
    }

    /// Takes the next piece of content; the last one, which may be empty, ends the stream. Answers no where there is no memory.
    mutating func push(
        _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        var position = 0
        while content.count - position >= self.room, self.index + 1 < self.members.count {
            let end = position + self.room
            try self.put(content[position..<end], isLast: true, deliver)
            position = end
            guard self.begin(self.index + 1) else { return false }
        }
        if self.index + 1 < self.members.count { self.room -= content.count - position }
        try self.put(content[position...], isLast: isLast, deliver)
        guard isLast else { return true }
        while self.index + 1 < self.members.count {
            guard self.begin(self.index + 1) else { return false }
            try self.put(content[content.endIndex...], isLast: true, deliver)
        }
        return true
    }

    private mutating func begin(_ index: Int) -> Bool {
        let member = self.members[index]
        guard let deflater = Deflater(member.parameters, format: .gzip, header: member.header) else { return false }
        self.deflater = deflater
        self.index = index
        self.room = member.size ?? .max
        return true
    }

    private mutating func put(
        _ content: Slice<UnsafeRawBufferPointer>, isLast: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try self.deflater.push(UnsafeRawBufferPointer(rebasing: content), isLast: isLast) { piece in
            try deliver(piece)
            return true
        }
    }
}
