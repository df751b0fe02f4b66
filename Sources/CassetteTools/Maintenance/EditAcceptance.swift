internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
package import TapeBytes

/// Accepts bodies that were edited by hand: corrects their sizes, digests and lengths in the cassette.
///
/// Changes nothing else, and leaves files next to the cassette alone: those are named by their digests.
package enum EditAcceptance {
    package struct Accepted: Equatable {
        /// In order of the file, counted from 1.
        package var exchange: Int
        /// What was wrong, each for people.
        package var texts: [String]
    }

    /// - Parameters:
    ///   - recorder: the name and version of this program.
    ///   - progress: how many of how many exchanges were read.
    /// - Returns: the exchanges that were corrected. Nothing is written if there are none.
    package static func run(
        _ path: String, recorder: String, digest: @escaping () -> any ContentDigest, progress: (Int, Int) -> Void = { _, _ in }
    ) throws -> [Accepted] {
        let rewriter = try CassetteAppender.open(path, recorder: recorder).finish()
        let reader = BodyReader(cassettePath: path)
        var accepted: [Accepted] = []
        var texts: [Int: [UInt8]] = [:]
        let count = rewriter.reader.count
        for place in 0..<count {
            progress(place, count)
            let text = try rewriter.reader.bytes(at: place)
            let correction = BodyCorrection(try InteractionDecoder.decode(text, at: .textAlone), reader: reader, digest: digest)
            guard !correction.wrong.isEmpty else { continue }
            texts[place] = try correction.corrected(text)
            accepted.append(Accepted(exchange: place + 1, texts: correction.wrong.map { "\($0.side.rawValue) body: \($0.text)" }))
        }
        guard !accepted.isEmpty else { return [] }
        try rewriter.rewrite(order: Array(0..<count)) { place, _ in texts[place] }
        return accepted
    }
}
