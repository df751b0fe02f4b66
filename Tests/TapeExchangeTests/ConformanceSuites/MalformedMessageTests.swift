internal import Testing

@testable internal import TapeExchange

@Suite struct MalformedMessageTests {
    @Test func malformedRequestsAreRefusedWithTheirStatus() {
        #expect(MessageCases.malformedRequests.count >= 120)
        for (status, wire) in MessageCases.malformedRequests {
            let refusal = Verdict.ofRequest(Array(wire.utf8)).refusal
            #expect(refusal?.status == status, "\(wire.debugDescription): \(refusal?.message ?? "taken")")
        }
    }

    @Test func malformedResponsesAreBadGateways() {
        for wire in MessageCases.malformedResponses {
            let refusal = Verdict.ofResponse(Array(wire.utf8)).refusal
            #expect(refusal?.status == 502, "\(wire.debugDescription): \(refusal?.message ?? "taken")")
        }
    }

    @Test func oddButLegalMessagesAreTaken() {
        for wire in MessageCases.oddRequests {
            let verdict = Verdict.ofRequest(Array(wire.utf8))
            #expect(
                verdict.refusal == nil && verdict.body?.isDone == true,
                "\(wire.debugDescription): \(verdict.refusal?.message ?? "not done")")
        }
        for wire in MessageCases.oddResponses {
            let verdict = Verdict.ofResponse(Array(wire.utf8))
            #expect(verdict.refusal == nil && verdict.body != nil, "\(wire.debugDescription): \(verdict.refusal?.message ?? "not done")")
        }
    }

    @Test func everySplitGivesTheSameVerdict() {
        for wire in MessageCases.malformedRequests.map(\.wire) + MessageCases.oddRequests {
            #expect(Verdict.isTheSameForEverySplit(Array(wire.utf8), Verdict.ofRequest), "\(wire.debugDescription)")
        }
        for wire in MessageCases.malformedResponses + MessageCases.oddResponses {
            #expect(Verdict.isTheSameForEverySplit(Array(wire.utf8), Verdict.ofResponse), "\(wire.debugDescription)")
        }
    }

    @Test func refusalsFitOnALineAndSayMore() {
        for (_, wire) in MessageCases.malformedRequests {
            let message = Verdict.ofRequest(Array(wire.utf8)).refusal?.message ?? ""
            #expect(message.utf8.allSatisfy { $0 >= 32 } && message.utf8.count > 20 && message.utf8.count < 400)
        }
    }
}
