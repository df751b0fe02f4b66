import Testing

@testable import Wiretape

@Suite struct EmptyBodyRuleTests {
    private let rule = EmptyBodyRule(requestMethods: EmptyBodyRule.requestMethods, responseCodes: EmptyBodyRule.responseCodes)

    @Test(arguments: [
        (HTTPMethod.head, 200, true), (.get, 204, true), (.post, 205, true), (.get, 200, false), (.get, 304, false), (.head, 404, true),
    ]) func methodsAndStatuses(method: HTTPMethod, status: Int, isAllowed: Bool) {
        #expect(self.rule.allows(method: method, status: status) == isAllowed)
    }

    @Test func theErrorSaysWhatCame() {
        #expect(!self.rule.allows(method: nil, status: nil))
        #expect { try self.rule.check(method: .get, status: 200) } throws: {
            "\($0)"
                == "the GET response with the status 200 has no body: add the method to \"emptyRequestMethods\" or the status to \"emptyResponseCodes\" if that is expected"
        }
        #expect { try self.rule.check(method: nil, status: nil) } throws: { "\($0)".hasPrefix("the response has no body") }
    }
}
